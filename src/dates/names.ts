// Words are stored as foldWord() leaves them: lower case, Latin and Greek accents off, dots off. A word that means
// different months in different languages (listopad, lipnja's short "lip") is in no list: null is better than wrong.

const monthWords: readonly (readonly string[])[] = [
  [
    'ene enero gen gener gennaio ian ianuarie jaan jaanuar jaen jaenner jan janar janeiro janner',
    'januar januara januari januarie january janv janvaris janvier led leden ledna oca ocak sausio',
    'sausis sij sijecanj sijecnja sty styczen stycznia tammi tammikuu tammikuuta urt urtarrila xan',
    'xaneiro yan yanvar ιαν ιανουαριος ιανουαριου сту студзень студзеня січ січень січня янв январь',
    'января януари јан јануар јануари қаң қаңтар հնվ հունվար հունվարի ינואר ינו׳ جنوری يناير ژانویه',
    'ژانویهٔ जनवरी जन॰ जाने जानेवारी জানু জানুয়ারি ਜਨ ਜਨਵਰੀ જાન્યુ જાન્યુઆરી ஜன ஜனவரி జన జనవరి ಜನ',
    'ಜನವರಿ ജനു ജനുവരി มกราคม มค იან იანვარი',
  ],
  [
    'feb febbraio feber febr febreiro febrer febrero februar februara februari februarie februaris',
    'february fev fevereiro fevr fevral fevrier helmi helmikuu helmikuuta lut lutego luty ots otsaila',
    'peb pebrero shk shkurt sub subat uno unor unora vasario vasaris veebr veebruar velj veljaca',
    'veljace φεβ φεβρουαριος φεβρουαριου ақп ақпан лют лютага лютии лютого люты феб фебруар фев февр',
    'февраль февраля февруари փետրվար փետրվարի փտվ פברואר פבר׳ فبراير فروری فوریه فوریهٔ फ़रवरी फ़र॰',
    'फेब्रु फेब्रुवारी ফেব ফেব্রুয়ারি ਫ਼ਰ ਫ਼ਰਵਰੀ ફેબ્રુ ફેબ્રુઆરી பிப் பிப்ரவரி ఫిబ్ర ఫిబ్రవరి ಫೆಬ್ರ',
    'ಫೆಬ್ರವರಿ ഫെബ്രു ഫെബ്രുവരി กพ กุมภาพันธ์ თებ თებერვალი',
    'شباط',
  ],
  [
    'bre brezen brezna kovas kovo maalis maaliskuu maaliskuuta maart mac machi mar marc marca march',
    'marcius marco marec maret mars marso mart martie marts martxoa marz marzec marzo mrt mrz ozu',
    'ozujak ozujka μαρ μαρτιος μαρτιου бер березень березня мар март марта нау наурыз сак сакавік',
    'сакавіка մարտ մարտի մրտ מרץ مارس مارچ मार्च মার্চ ਮਾਰਚ માર્ચ மார் மார்ச் మార్చి ಮಾರ್ಚ್ മാർ',
    'മാർച്ച് มีค มีนาคม მარ მარტი',
    'آذار',
  ],
  [
    'abr abril api apirila apr aprel april aprila aprile aprili aprilie aprilis aprill avr avril',
    'balandis balandzio dub duben dubna huhti huhtikuu huhtikuuta kwi kwiecien kwietnia nis nisan pri',
    'prill tra travanj travnja απρ απριλιος απριλιου апр апрель апреля април квіт квітень квітня кра',
    'красавік красавіка сәу сәуір ապր ապրիլ ապրիլի אפריל אפר׳ آوریل أبريل اپریل अप्रैल एप्रि एप्रिल',
    'এপ্রি এপ্রিল ਅਪ੍ਰੈ ਅਪ੍ਰੈਲ એપ્રિલ ஏப் ஏப்ரல் ఏప్రి ఏప్రిల్ ಏಪ್ರಿ ಏಪ್ರಿಲ್ ഏപ്രി ഏപ്രിൽ เมย เมษายน',
    'აპრ აპრილი',
    'نيسان ابريل',
  ],
  [
    'geguze geguzes kve kveten kvetna mag maggio mai maiatza maig maijs maio maj maja majus may mayis',
    'mayo mei svi svibanj svibnja touko toukokuu toukokuuta μαι μαιος μαιου маи мам мамыр мая мај',
    'трав травень травня մայիս մայիսի մյս מאי مئی مايو مه مهٔ मई मे মে ਮਈ મે மே మే ಮೇ മേയ് พค พฤษภาคม',
    'მაი მაისი',
    'أيار ايار',
  ],
  [
    'birzelio birzelis cerven cervna cvn cze czerwca czerwiec eka ekaina giu giugno haz haziran hun',
    'hunyo iun iunie iyn iyun juin jun juna june junho juni junie junij junijs junio junius juny',
    'juuni kesa kesakuu kesakuuta lipanj lipnja qer qershor xuno ιουν ιουνιος ιουνιου июн июнь июня',
    'мау маусым черв червень червня чэр чэрвень чэрвеня юни јун јуни հնս հունիս հունիսի יוני جون',
    'يونيو ژوئن जून জুন ਜੂਨ જૂન ஜூன் జూన్ ಜೂನ್ ജൂൺ มิถุนายน มิย ივნ ივნისი',
    'حزيران',
  ],
  [
    'cervence cervenec cvc heina heinakuu heinakuuta hul hulyo iul iulie iyl iyul juil juillet jul',
    'jula julai julho juli julie julij julijs julio juliol julius july juuli korr korrik liepa liepos',
    'lipca lipiec lug luglio srpanj srpnja tem temmuz uzt uztaila xul xullo ιουλ ιουλιος ιουλιου июл',
    'июль июля лип липень липня ліп ліпень ліпеня шіл шілде юли јул јули հլս հուլիս հուլիսի יולי',
    'جولائی يوليو ژوئیه ژوئیهٔ जुलाई जुलै जुल॰ জুল জুলাই ਜੁਲਾ ਜੁਲਾਈ જુલાઈ ஜூலை జులై ಜುಲೈ ജൂലൈ กค',
    'กรกฎาคม ივლ ივლისი',
    'تموز',
  ],
  [
    'abu abuztua ag ago agost agosti agosto agto agu agust agustos agustus aout aug august augusta',
    'augusti augusts augustus augusztus avg avgust avq avqust elo elokuu elokuuta gush gusht kol',
    'kolovoz kolovoza ogo ogos rugpjucio rugpjutis sie sierpien sierpnia srpen srpna αυγ αυγουστος',
    'αυγουστου авг август августа жні жнівень жніуня серп серпень серпня там тамыз օգոստոս օգոստոսի',
    'օգս אוגוסט אוג׳ أغسطس اوت اگست अगस्त अग॰ ऑग ऑगस्ट আগ আগস্ট ਅਗ ਅਗਸਤ ઑગસ્ટ ஆக ஆகஸ்ட் ఆగ ఆగస్టు ಆಗ',
    'ಆಗಸ್ಟ್ ഓഗ ഓഗസ്റ്റ് สค สิงหาคม აგვ აგვისტო',
    'آب',
  ],
  [
    'eyl eylul ira iraila rugsejis rugsejo ruj rujan rujna sen sentabr sentyabr sep sept septemba',
    'septembar september septembra septembre septembrie septembris septiembre set setembre setembro',
    'settembre setyembre sht shtator syys syyskuu syyskuuta szept szeptember wrz wrzesien wrzesnia',
    'zar zari σεπ σεπτεμβριος σεπτεμβριου вер верасень верасня вересень вересня сент сентябрь',
    'сентября сеп септембар септември қыр қыркүиек սեպ սեպտեմբեր սեպտեմբերի ספטמבר ספט׳ سبتمبر ستمبر',
    'سپتامبر सप्टें सप्टेंबर सितंबर सित॰ সেপ সেপ্ট সেপ্টেম্বর ਸਤੰ ਸਤੰਬਰ સપ્ટે સપ્ટેમ્બર செப்',
    'செப்டம்பர் సెప్టెం సెప్టెంబర్ ಸೆಪ್ಟೆಂ ಸೆಪ್ಟೆಂಬರ್ സെപ്റ്റം സെപ്റ്റംബർ กย กันยายน სექ სექტემბერი',
    'أيلول ايلول',
  ],
  [
    'eki ekim loka lokakuu lokakuuta oct october octobre octombrie octubre okt oktabr oktoba oktobar',
    'oktober oktobra oktobris oktoober oktubre oktyabr ott ottobre out outubro paz pazdziernik',
    'pazdziernika rij rijen rijna spalio spalis tet tetor urr urria οκτ οκτωβριος οκτωβριου жовт',
    'жовтень жовтня кас кастрычнік кастрычніка окт октобар октомври октябрь октября қаз қазан հոկ',
    'հոկտեմբեր հոկտեմբերի אוקטובר אוק׳ أكتوبر اکتبر اکتوبر अक्टूबर अक्टू॰ ऑक्टो ऑक्टोबर অক্টো অক্টোবর',
    'ਅਕਤੂ ਅਕਤੂਬਰ ઑક્ટો ઑક્ટોબર அக் அக்டோபர் అక్టో అక్టోబర్ ಅಕ್ಟೋ ಅಕ್ಟೋಬರ್ ഒക്ടോ ഒക്ടോബർ ตค ตุลาคม ოქტ',
    'ოქტომბერი',
  ],
  [
    'aza azaroa kas kasim lapkricio lapkritis listopadu marras marraskuu marraskuuta nen nentor nob',
    'nobyembre noiembrie nov novemba novembar november novembra novembre novembris novembro noviembre',
    'noy noyabr stu studeni studenoga νοε νοεμβριος νοεμβριου лист листопад листопада ліс лістапад',
    'лістапада нов новембар ное ноември нояб ноябрь ноября қар қараша նոյ նոյեմբեր նոյեմբերի נובמבר',
    'נוב׳ نوامبر نوفمبر نومبر नवंबर नव॰ नोव्हें नोव्हेंबर নভে নভেম্বর ਨਵੰ ਨਵੰਬਰ નવે નવેમ્બર நவ',
    'நவம்பர் నవం నవంబర్ ನವೆಂ ನವೆಂಬರ್ നവം നവംബർ พย พฤศจิกายน ნოე ნოემბერი',
  ],
  [
    'abe abendua ara aralik dec decembar december decembra decembre decembrie decembris decembro dek',
    'dekabr des desemba desember desembre dets detsember dez dezember dezembro dhj dhjetor dic',
    'dicembre diciembre dis disember disyembre gru grudnia grudzien gruodis gruodzio joulu joulukuu',
    'joulukuuta pro prosinac prosinca prosince prosinec δεκ δεκεμβριος δεκεμβριου груд грудень грудня',
    'дек декабрь декабря декември дец децембар жел желтоқсан сне снежань снежня դեկ դեկտեմբեր',
    'դեկտեմբերի דצמבר דצמ׳ دسامبر دسمبر ديسمبر डिसें डिसेंबर दिसंबर दिस॰ ডিসে ডিসেম্বর ਦਸੰ ਦਸੰਬਰ ડિસે',
    'ડિસેમ્બર டிச டிசம்பர் డిసెం డిసెంబర్ ಡಿಸೆಂ ಡಿಸೆಂಬರ್ ഡിസം ഡിസംബർ ธค ธันวาคม დეკ დეკემბერი',
  ],
];

const weekdayWords: readonly (readonly string[])[] = [
  [
    'ahad ahd bazar dg die dim dimanche diumenge dom domenica domingo dum duminica ig igandea',
    'jumapili lin linggo min minggu ne ned nedela nedele nedelja nedjelja niedz niedziela paz pazar',
    'puhapaev sekmadienis sk son sondag sonntag su sun sunday sunnudagur sunnuntai svetd svetdiena',
    'søn søndag vasarnap yak yakshanba zo zondag κυρ κυριακη воскресенье вс жексенбі жс нд нед недела',
    'неделя недеља неділя нядзеля կիր կիրակի اتوار الأحد یکشنبه रवि रविवार রবি রবিবার ਐਤ ਐਤਵਾਰ રવિ',
    'રવિવાર ஞாயி ஞாயிறு ఆది ఆదివారం ಭಾನು ಭಾನುವಾರ ഞായറാഴ്ച ഞായർ วันอาทิตย์ อาทิตย์ კვი კვირა 日曜日 星期日',
  ],
  [
    'al astelehena be dilluns dl dush dushanba esmaspaev hen hetfo isn isnin jumatatu lun lundi',
    'lunedi lunes luni luns ma maanantai maandag man mandag manudagur mo mon monday montag pazartesi',
    'pirmadienis pirmd pirmdiena po pon pondeli pondelok ponedeljak ponedeljek ponedjeljak',
    'poniedziałek pr pzt seg sen senin δευ δευτερα дс дүисенбі панядзелак пн пон понеделник',
    'понедельник понедељак понеділок երկ երկուշաբթի الاثنين دوشنبه پیر सोम सोमवार সোম সোমবার ਸੋਮ',
    'ਸੋਮਵਾਰ સોમ સોમવાર திங் திங்கள் సోమ సోమవారం ಸೋಮ ಸೋಮವಾರ തിങ്കളാഴ്ച തിങ്കൾ จันทร์ วันจันทร์ ორშ',
    'ორშაბათი 星期一 月曜日',
  ],
  [
    'an antradienis ar asteartea di dienstag dimarts dinsdag dt jumanne kedd mar mardi martedi martes',
    'marti otrd otrdiena sal sali sel selasa sesh seshanba teisipaev ter ti tiistai tir tirs tirsdag',
    'tis tisdag torek tue tues tuesday tys tysdag ut utery uto utorak utorok wt wtorek þri',
    'þriðjudagur τρι τριτη ау ауторак вт вто вторник вівторок сеисенбі сс уто уторак երեքշաբթի երք',
    'الثلاثاء سهشنبه منگل मंगल मंगलवार मंगळ मंगळवार মঙ্গল মঙ্গলবার ਮੰਗਲ ਮੰਗਲਵਾਰ મંગળ મંગળવાર செவ்',
    'செவ்வாய் మంగళ మంగళవారం ಮಂಗಳ ಮಂಗಳವಾರ ചൊവ്വ ചൊവ്വാഴ്ച วันอังคาร อังคาร სამ სამშაბათი 星期二 火曜日',
  ],
  [
    'asteazkena az car carsamba chor chorshanba cərsənbə dc dimecres jumatano ke keskiviikko',
    'kolmapaev mer mercoledi mercores mercredi mi mie miercoles miercuri mittwoch miy miyerkules mið',
    'miðvikudagur ons onsdag qua rab rabu sr sre sreda sri srijeda sroda streda sze szerda tr',
    'treciadienis tresd tresdiena wed wednesday weds wo woensdag τετ τεταρτη серада середа ср сре',
    'среда сряда сәрсенбі չորեքշաբթի չրք الأربعاء بدھ چهارشنبه बुध बुधवार বুধ বুধবার ਬੁੱਧ ਬੁੱਧਵਾਰ બુધ',
    'બુધવાર புத புதன் బుధ బుధవారం ಬುಧ ಬುಧವಾರ ബുധനാഴ്ച ബുധൻ พุธ วันพุธ ოთხ ოთხშაბათი 星期三 水曜日',
  ],
  [
    'alhamisi cet cetrtek ceturtd ceturtdiena cetvrtak cs csutortok ct ctvrtek czw czwartek dijous dj',
    'do donderdag donnerstag enj fim fimmtudagur gio giovedi huw huwebes jeu jeudi joi jue jueves kam',
    'kamis ketvirtadienis kha khamis kt neljapaev og osteguna pay payshanba per persembe qui stvrtok',
    'thu thur thurs thursday to tors torsdag torstai xov xoves πεμ πεμπτη беисенбі бс чацвер чет',
    'четвер четверг четвртак четврток четвъртък чт чц հինգշաբթի հնգ الخميس جمعرات پنجشنبه गुरु',
    'गुरुवार বৃহস্পতি বৃহস্পতিবার ਵੀਰ ਵੀਰਵਾਰ ગુરુ ગુરુવાર வியா வியாழன் గురు గురువారం ಗುರು ಗುರುವಾರ',
    'വ്യാഴം വ്യാഴാഴ്ച พฤหัส วันพฤหัสบดี ხუთ ხუთშაბათი 星期四 木曜日',
  ],
  [
    'biy biyernes cum cuma cumə divendres dv fos fostudagur fr fre fredag freitag fri friday ijumaa',
    'jum juma jumaat jumat or ostirala pa patek pe penktadienis pentek perjantai pet petak petek pi',
    'piatek piatok piektd piektdiena pn pre pt reede sex ven vendredi venerdi venres vie viernes vin',
    'vineri vr vrijdag vrydag παρ παρασκευη жм жұма пʼятниця пет петак петок петък пт пятница пятніца',
    'ուր ուրբաթ الجمعة جمعه جمعہ शुक्र शुक्रवार শুক্র শুক্রবার ਸ਼ੁੱਕਰ ਸ਼ੁੱਕਰਵਾਰ શુક્ર શુક્રવાર வெள்',
    'வெள்ளி శుక్ర శుక్రవారం ಶುಕ್ರ ಶುಕ್ರವಾರ വെള്ളി വെള്ളിയാഴ്ച วันศุกร์ ศุกร์ პარ პარასკევი 星期五 金曜日',
  ],
  [
    'cmt cumartesi dissabte ds jumamosi la larunbata lau lauantai laugardagur laupaev laurdag lor',
    'lordag lr lør lørdag sa sab sabado sabato sabtu sam sambata samedi samstag sat saterdag saturday',
    'sestadienis sestd sestdiena shan shanba sht sob sobota sonnabend sub subota szo szombat sənbə za',
    'zaterdag σαβ σαββατο саб сабота сб сенбі суб суббота субота събота շաբաթ շբթ שבת السبت شنبه ہفتہ',
    'शनि शनिवार শনি শনিবার ਸ਼ਨੀ ਸ਼ਨੀਵਾਰ શનિ શનિવાર சனி శని శనివారం ಶನಿ ಶನಿವಾರ ശനി ശനിയാഴ്ച วันเสาร์',
    'เสาร์ შაბ შაბათი 土曜日 星期六',
  ],
];

// Short forms that name different days in different languages: known to be a weekday, never used to decide anything.
const vagueWeekdays = 'so tor st ca';

function index(lists: readonly (readonly string[])[]): Map<string, number> {
  const map = new Map<string, number>();
  for (const [value, lines] of lists.entries())
    for (const word of lines.flatMap((line) => line.split(' '))) map.set(word, value);
  return map;
}

const months = index(monthWords);
const weekdays = index(weekdayWords);
for (const word of vagueWeekdays.split(' ')) weekdays.set(word, -1);

const combiningMarks = /[\u0300-\u036f]/g;

/** Brings text into the form the name tables use; text that is plain ASCII only loses its capitals. */
export function foldWord(text: string): string {
  const lower = text.toLowerCase();
  if (/^[\x20-\x7e]*$/.test(lower)) return lower;
  return lower
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(combiningMarks, '')
    .normalize('NFC')
    .replaceAll('\u0131', 'i')
    .replace(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '');
}

/** The month (1-12) a folded word names in any language we know, or null. */
export function monthOf(word: string): number | null {
  const month = months.get(word);
  return month === undefined ? null : month + 1;
}

/** The weekday (0 = Sunday) a folded word names, -1 when it is a weekday but languages differ on which, or null. */
export function weekdayOf(word: string): number | null {
  return weekdays.get(word) ?? null;
}
